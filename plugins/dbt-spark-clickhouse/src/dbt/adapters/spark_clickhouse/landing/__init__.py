"""Batches in a landing zone."""
