"""What both engines and the hand-off share."""
