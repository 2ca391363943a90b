"""Linear operators A in front of u, and constraints on u: the terms of h(Au) + R(u) + F(Ku)."""
