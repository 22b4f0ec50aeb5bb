"""New keys and certificates for a house: when old ones end, or somebody else has them."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from services.access.callout import Callout
from services.access.certificates import ends, hosts_of
from services.access.folder import OPEN, Kept, put
from services.access.house import CA, House, NoHouse, identity, new_seed, written
from services.access.nkeys import public_of
from services.access.server_files import nkey_variable
from services.bus.accounts import SERVICES
from services.bus.credentials import Credentials


def renew_service(house: House, user: str) -> Path:
    """Gives a service a new NKey: the old one lets nobody in once the servers have read it. Raises `NoHouse`."""
    if user not in SERVICES:
        raise NoHouse(f"a service is one of {', '.join(SERVICES)}, not {user}")
    known, path, url = house.known(), house.credentials_file(user), house.url()
    put(path, identity(url, user))
    Kept().file(path.with_name(CA), house.vouching, OPEN)
    public = public_of("user", Credentials.read(path).seeds[user])
    put(house.keys_file, written({**known, nkey_variable(user): public}), OPEN)
    return path


def renew_certificate(house: House, hosts: Sequence[str] = ()) -> datetime:
    """Gives the servers a new certificate, for the same names if no others are given; tells when it ends.

    Raises `NoHouse` or `NoCertificate`.
    """
    house.known()
    if not hosts and not house.certificate_file.exists():
        raise NoHouse(f"{house.certificate_file} is not here: name the hosts")
    house.certify(hosts or hosts_of(house.certificate_file.read_bytes()), Kept())
    return ends(house.certificate_file.read_bytes())


def renew_issuer(house: House, *, forget: bool) -> Path:
    """Makes a new issuer of players' credentials; those of earlier ones hold on until they end, or not (`forget`).

    Raises `NoCallout`.
    """
    callout, seed = Callout.read(house.callout_file), new_seed("account")
    issuers = (public_of("account", seed), *(() if forget else callout.issuers))
    put(house.issuer_file, seed.encode())
    put(house.callout_file, msgspec.structs.replace(callout, issuers=issuers).written())
    return house.issuer_file
