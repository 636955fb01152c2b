"""One adapter made of two: which engine a call is for."""
