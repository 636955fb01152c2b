"""One adapter out of two: which engine a call is for."""
