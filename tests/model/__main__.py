"""Prints, for each guard of the protocol, the shortest way in which something goes wrong without it."""

import sys

from tests.model.test_model import NEEDED, SCENARIOS

for guard, (scenario, _) in NEEDED.items():
    sys.stdout.write(f"Without: {guard} ({scenario})\n{SCENARIOS[scenario].search(guard).find()}\n\n")
