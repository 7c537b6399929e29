"""Tensors, primitives, the tape and the carriers: what operators are written with."""
