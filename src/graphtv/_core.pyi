from graphtv._validate import Floats, Indices

# cpp/bindings/graph.cpp
def simplify(n_vertices: int, edges: Indices, weights: Floats) -> tuple[Indices, Floats]: ...
