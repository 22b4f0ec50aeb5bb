"""The server's configuration as the NATS chart (1.3) writes it from its values, as far as our values use it.

What `merge` holds goes over what the chart says itself; keys that end in `$include` become include directives, in the
order of the alphabet; a text between `<<` and `>>` loses its quotes.
"""

import json
import re
from typing import Any

type Values = dict[str, Any]


def config(values: Values) -> Values:
    """What the chart's templates make of the values, before it is written down."""
    given = values["config"]
    name, replicas = values["fullnameOverride"], given["cluster"]["replicas"]
    own: Values = {
        "server_name": "<< $SERVER_NAME >>",
        "lame_duck_grace_period": "10s",
        "lame_duck_duration": "30s",
        "port": given["nats"]["port"],
        "tls": merged(_tls(given["nats"]["tls"]), given["nats"]["tls"].get("merge", {})),
        "http_port": given["monitor"]["port"],
        "jetstream": merged(_jetstream(given["jetstream"]), given["jetstream"].get("merge", {})),
    }
    if given["cluster"]["enabled"]:
        cluster = {
            "name": name,
            "port": given["cluster"]["port"],
            "no_advertise": True,
            "routes": [f"tls://{name}-{index}.{name}-headless:6222" for index in range(replicas)],
            "tls": merged(_tls(given["cluster"]["tls"]), given["cluster"]["tls"].get("merge", {})),
        }
        own["cluster"] = merged(cluster, given["cluster"].get("merge", {}))
    return merged(own, given.get("merge", {}))


def _tls(tls: Values) -> Values:
    assert tls["enabled"]
    if "secretName" not in tls:
        return {}
    return {"cert_file": f"{tls['dir']}/{tls['cert']}", "key_file": f"{tls['dir']}/{tls['key']}"}


def _jetstream(jetstream: Values) -> Values:
    assert jetstream["enabled"]
    assert jetstream["fileStore"]["enabled"]
    file = jetstream["fileStore"]
    return {"max_memory_store": 0, "store_dir": file["dir"], "max_file_store": f"<< {file['pvc']['size']} >>"}


def merged(own: Values, over: Values) -> Values:
    """One over the other."""
    found = dict(own)
    for key, value in over.items():
        found[key] = merged(found.get(key, {}), value) if isinstance(value, dict) else value
    return found


def written(values: Values) -> str:
    """The file `nats.conf`."""
    text = json.dumps(values, indent=2, sort_keys=True)
    text = re.sub(r'"[^"]*\$include": ("[^"]*"),?', r"include \1;", text)
    return re.sub(r'"<<\s*(.*?)\s*>>"', r"\1", text)
