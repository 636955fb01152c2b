"""The fault campaign: tables that live through random faults, next to a model of what they should hold.

`python -m tests.faults --minutes 60 --seed 1`, or `make faults`. A *life* is a table from its first run to its last, with
a fault in each run. It follows from a seed and a number, and `--repeat <seed>:<number>` repeats it.
"""
