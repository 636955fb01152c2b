"""What both engines and the hand-off use."""
