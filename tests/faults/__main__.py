"""The command of the campaign."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

from tests.faults.campaign import Campaign, plan, run, say, table
from tests.faults.kinds import KINDS
from tests.support.shop import REPOSITORY


def main() -> int:
    """Run the campaign. Return 1 if anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", default=str(int(time.time())))
    parser.add_argument("--lives", type=int, help="how many at most")
    parser.add_argument("--kinds", nargs="*", default=[], help="only kinds whose names contain one of these")
    parser.add_argument("--repeat", metavar="SEED:NUMBER", help="one life again, with the same --kinds")
    parser.add_argument("--log", type=Path, default=REPOSITORY / "logs" / "faults.jsonl")
    options = parser.parse_args()
    kinds = [name for name in KINDS if not options.kinds or any(part in name for part in options.kinds)]
    seed, _, number = (options.repeat or f"{options.seed}:").rpartition(":")
    numbers = [int(number)] if options.repeat else count() if options.lives is None else range(options.lives)
    options.log.parent.mkdir(parents=True, exist_ok=True)
    say(f"seed {seed}, log {options.log}")
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    campaign = Campaign(folder, options.log)
    is_well = False
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # It unmounts what it has mounted.
    try:
        is_well = run(campaign, (plan(seed, each, kinds) for each in numbers), options.minutes)
    except KeyboardInterrupt:
        say("interrupted")
    finally:
        campaign.close()
    say(table(campaign.steps))
    if is_well:
        shutil.rmtree(folder, ignore_errors=True)
    else:
        say(f"What is left of it: {folder}")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
