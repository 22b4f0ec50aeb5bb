"""One target under coverage guidance: inputs are counted, those that fail are kept, and the run goes on behind them."""

import hashlib
import os
import resource
import sys
import time
import traceback
from pathlib import Path
from random import Random
from typing import Final, NoReturn

import structlog

from tests.fuzz.bounds import bounded_memory

INPUT_S_MAX: Final = 5.0
"""CPU time that one input may take under instrumentation; many times what the slowest one takes."""
HANG_S: Final = 60
"""libFuzzer ends the run at an input that takes so long."""
MEMORY_MB_MAX: Final = 1024
"""libFuzzer ends the run where the process holds more, by many inputs: one alone gets no more than `bounds` says."""
INPUT_BYTES_MAX: Final = 512
"""The longest input: a list of decisions, most of them one byte."""
STARTERS: Final = 64
SAID_EVERY_S: Final = 30.0


class Run:
    """Counts the inputs of one target until there were `inputs` of them or `seconds` have passed."""

    def __init__(self, name: str, inputs: int, seconds: float, keep: Path) -> None:
        from tests.fuzz.targets import TARGETS

        self._target = TARGETS[name]
        self._name = name
        self._inputs_max = inputs
        self._keep = keep
        self._began = self._said = time.monotonic()
        self._used = time.process_time()
        self._ends = self._began + seconds
        self._inputs = 0
        self._slowest_s = 0.0
        self._faults: dict[str, int] = {}

    def one(self, data: bytes) -> None:
        """Takes one input; ends the process with the last."""
        before = time.thread_time()
        try:
            self._target(data)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            self._fault(_place(error), data, error)
        took = time.thread_time() - before
        self._slowest_s = max(self._slowest_s, took)
        if took > INPUT_S_MAX:
            self._fault("slow", data, None)
        self._inputs += 1
        now = time.monotonic()
        if self._inputs >= self._inputs_max or now >= self._ends:
            self.end()
        if now - self._said > SAID_EVERY_S:
            self._said = now
            print(self._report(), flush=True)

    def _fault(self, place: str, data: bytes, error: Exception | None) -> None:
        """Keeps the first input of each fault."""
        self._faults[place] = self._faults.get(place, 0) + 1
        if self._faults[place] > 1:
            return
        self._keep.mkdir(parents=True, exist_ok=True)
        path = self._keep / f"{self._name}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        print(f"FOUND {place}: {path}", flush=True)
        traceback.print_exception(error)

    def _report(self) -> str:
        took, used = time.monotonic() - self._began, time.process_time() - self._used
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        rates = f"{self._inputs / took:.0f}/s, {self._inputs / used:.0f} a CPU second"
        bounds = f"slowest {1000 * self._slowest_s:.0f} ms, peak memory {memory} MB"
        return (
            f"{self._name}: {self._inputs} inputs in {took:.0f} s ({rates}), {bounds}, faults {self._faults or 'none'}"
        )

    def end(self) -> NoReturn:
        """Says what came of it. The process ends here: libFuzzer does not come back."""
        print(self._report(), flush=True)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1 if self._faults else 0)


def _place(error: Exception) -> str:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}"


def run(name: str, inputs: int, seconds: float, keep: Path, seed: int) -> NoReturn:
    """Fuzzes one target. Raises ImportError where atheris has no wheel."""
    import atheris

    structlog.configure(processors=[_dropped])
    with atheris.instrument_imports(include=["contracts", "services"]):
        import tests.fuzz.targets  # noqa: F401
    running = Run(name, inputs, seconds, keep)
    corpus = keep / "corpus" / name
    _begin(corpus, seed)
    options = (
        f"-seed={seed}",
        f"-timeout={HANG_S}",
        f"-rss_limit_mb={MEMORY_MB_MAX}",
        f"-max_len={INPUT_BYTES_MAX}",
        "-len_control=0",
        "-verbosity=0",
        f"-artifact_prefix={keep}/{name}-",
    )
    atheris.Setup([sys.argv[0], *options, str(corpus)], running.one)
    with bounded_memory():
        atheris.Fuzz()
    running.end()


def _begin(corpus: Path, seed: int) -> None:
    """Inputs to begin with: decisions at random. What they decide on is `seeds`."""
    corpus.mkdir(parents=True, exist_ok=True)
    chance = Random(seed)
    for number in range(STARTERS):
        (corpus / f"start-{number}").write_bytes(chance.randbytes(chance.randint(1, INPUT_BYTES_MAX)))


def _dropped(*_: object) -> NoReturn:
    raise structlog.DropEvent
