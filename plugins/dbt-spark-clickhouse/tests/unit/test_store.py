"""The lock on the embedded stores, between real processes."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.spark_clickhouse.core import store

Holder = Callable[[str], subprocess.Popen[str]]

# Only this module, because importing the whole adapter takes a second.
HOLD = f"""
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
spec = spec_from_file_location("store", {store.__file__!r})
store = module_from_spec(spec)
spec.loader.exec_module(store)
home = Path(sys.argv[1])
"""
UNTIL_TOLD = "print('held', flush=True); sys.stdin.readline()\n"
FOR_A_WHILE = "print('held', flush=True); import time; time.sleep(1)\n"
WITH_A_CHILD = """
import subprocess
fd = store.share(home, 0)
code = "import time; input(); time.sleep(0.5)"
child = subprocess.Popen([sys.executable, "-c", code], stdin=0, pass_fds=(fd,))
print("held", child.pid, flush=True)
child.wait()
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home folder; this process holds it no more at the end."""
    home = tmp_path / "home"
    yield home
    if handle := store._held.pop(home, None):
        handle.close()
    store._shared.discard(home)
    store.release_schemas()


@pytest.fixture
def holder(home: Path) -> Iterator[Holder]:
    """Starts another process, which holds the lock when the call returns."""
    with ExitStack() as processes:

        def start(code: str) -> subprocess.Popen[str]:
            process = processes.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", HOLD + code, str(home), "dbt-like", "arguments"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            processes.callback(process.kill)
            assert process.stdout is not None
            process.answer = process.stdout.readline().split()  # type: ignore[attr-defined]
            return process

        yield start


def is_held(home: Path) -> bool:
    """Whether this process holds the lock, according to the lock's file."""
    return (home / "lock").read_text().startswith(f"{os.getpid()} ")


def test_second_process_is_refused_with_pid_and_command_of_the_first(home: Path, holder: Holder) -> None:
    first = holder("store.hold(home, 0)\n" + UNTIL_TOLD)
    with pytest.raises(DbtRuntimeError) as error:
        store.hold(home, 0)
    assert error.value.msg == (
        f"The embedded stores in {home} are in use by process {first.pid} (-c {home} dbt-like "
        "arguments); only one process at a time can work on them. dbt has waited 0 s. Wait for it to end, let dbt wait "
        "longer (`wait` in the profile, in seconds), or use another folder (`home` in the profile)."
    )


def test_waiting_ends_when_the_first_process_ends(home: Path, holder: Holder) -> None:
    first = holder("store.hold(home, 0)\n" + FOR_A_WHILE)
    store.hold(home, 30)
    first.wait(timeout=10)
    assert is_held(home)


def test_waiting_ends_with_an_error_when_the_time_is_up(home: Path, holder: Holder) -> None:
    holder("store.hold(home, 0)\n" + UNTIL_TOLD)
    begun = time.monotonic()
    with pytest.raises(DbtRuntimeError, match="are in use by process"):
        store.hold(home, 1)
    assert time.monotonic() - begun >= 1


@pytest.mark.parametrize("end", ["told", "killed"])
def test_lock_is_free_when_its_process_has_ended(home: Path, holder: Holder, end: str) -> None:
    first = holder("store.hold(home, 0)\n" + UNTIL_TOLD)
    if end == "told":
        first.communicate("\n", timeout=10)
    else:
        first.kill()
        first.wait(timeout=10)
    store.hold(home, 0)
    assert is_held(home)


def test_lock_is_free_when_it_was_released(home: Path, holder: Holder) -> None:
    store.hold(home, 0)
    assert is_held(home)
    store.release(home)
    other = holder("store.hold(home, 0)\n" + UNTIL_TOLD)
    assert (home / "lock").read_text().startswith(f"{other.pid} ")


def test_holding_again_in_the_same_process_is_free(home: Path) -> None:
    store.hold(home, 0)
    store.hold(home, 0)
    assert store.share(home, 0) == store.share(home, 0)
    assert is_held(home)


def test_releasing_what_is_not_held_does_nothing(home: Path) -> None:
    store.release(home)
    assert not home.exists()


def test_a_home_that_is_a_file_is_named(home: Path) -> None:
    home.touch()
    with pytest.raises(DbtRuntimeError) as refused:
        store.hold(home, 0)
    assert refused.value.msg == (
        f"dbt cannot keep a lock in {home}: File exists. Let `home` in the profile name a folder that dbt can write to."
    )


def test_child_keeps_the_lock_when_its_parent_is_killed(
    home: Path, holder: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = holder(WITH_A_CHILD)
    parent.kill()
    parent.wait(timeout=10)
    monkeypatch.setattr(store, "SECONDS_FOR_A_JVM_TO_END", 0.5)
    with pytest.raises(DbtRuntimeError, match=f"are in use by process {parent.pid} "):
        store.hold(home, 0)


def test_child_of_a_killed_process_is_waited_for_unasked(home: Path, holder: Holder) -> None:
    parent = holder(WITH_A_CHILD)
    parent.kill()
    parent.wait(timeout=10)
    assert parent.stdin is not None
    parent.stdin.write("\n")  # The child ends when it reads a line.
    parent.stdin.flush()
    store.hold(home, 0)
    assert is_held(home)


def test_lock_that_a_child_shares_is_not_released(home: Path) -> None:
    shared = os.dup(store.share(home, 0))
    try:
        store.release(home)
        with pytest.raises(BlockingIOError), (home / "lock").open() as again:
            fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
        store.hold(home, 0)
        assert is_held(home)
    finally:
        os.close(shared)


def test_folders_are_locked_apart(home: Path, holder: Holder) -> None:
    holder("store.hold(home, 0)\n" + UNTIL_TOLD)
    other = home.with_name("other")
    store.hold(other, 0)
    assert (is_held(other), is_held(home)) == (True, False)
    store.release(other)


def test_schema_of_a_server_is_held_until_its_command_has_ended(home: Path, holder: Holder) -> None:
    server = "spark.example.com:10000"
    first = holder(f"store.hold_schema(home, {server!r}, 'shop', 0)\n" + UNTIL_TOLD)
    store.hold_schema(home, server, "other", 0)
    store.hold_schema(home, "other.example.com:10000", "shop", 0)
    with pytest.raises(DbtRuntimeError) as refusal:
        store.hold_schema(home, server, "shop", 0)
    said = str(refusal.value)
    assert f"The schema shop of Spark at {server} is in use by process {first.pid}" in said
    assert "Run the command again when that has ended" in said
    first.kill()
    first.wait()
    store.hold_schema(home, server, "shop", 0)
    store.hold_schema(home, server, "shop", 0)
    store.release_schemas()
    holder(f"store.hold_schema(home, {server!r}, 'shop', 0)\n" + UNTIL_TOLD)
