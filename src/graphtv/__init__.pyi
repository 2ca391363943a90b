"""The public names of graphtv and the modules that define them.

This is the only list of public names. Type checkers read this stub. At run time `__init__.py` reads
it too, and imports a module when one of its names is first used.
"""

from graphtv import datasets as datasets, gallery as gallery
from graphtv.applications.cuts.cut_path import CutPath as CutPath, cut_path as cut_path
from graphtv.applications.cuts.flow_network import FlowNetwork as FlowNetwork
from graphtv.applications.cuts.min_cut import Cut as Cut, min_cut as min_cut
from graphtv.applications.fused.fused_lasso import fused_lasso as fused_lasso
from graphtv.applications.fused.fused_lasso_estimator import FusedLasso as FusedLasso
from graphtv.applications.fused.fused_lasso_path import (
    FusedLassoPath as FusedLassoPath,
    fused_lasso_path as fused_lasso_path,
)
from graphtv.applications.imaging.deblurring import deblur_tv as deblur_tv
from graphtv.applications.imaging.denoising import denoise_tv as denoise_tv
from graphtv.applications.imaging.noise import (
    estimate_noise as estimate_noise,
    suggest_weight as suggest_weight,
)
from graphtv.applications.imaging.image_segmentation import segment_image as segment_image
from graphtv.applications.imaging.reconstruction import reconstruct_tv as reconstruct_tv
from graphtv.applications.imaging.segmentation import (
    Segmentation as Segmentation,
    segment as segment,
)
from graphtv.applications.learning.classifier import TVClassifier as TVClassifier
from graphtv.applications.learning.clusters import ConvexClusters as ConvexClusters
from graphtv.applications.learning.convex_clustering import convex_clustering as convex_clustering
from graphtv.applications.learning.convex_clustering_estimator import (
    ConvexClustering as ConvexClustering,
)
from graphtv.applications.learning.convex_clustering_path import (
    ConvexClusteringPath as ConvexClusteringPath,
    convex_clustering_path as convex_clustering_path,
)
from graphtv.applications.regression.linear_regression import (
    FusedLinearRegression as FusedLinearRegression,
)
from graphtv.applications.regression.logistic_regression import (
    FusedLogisticRegression as FusedLogisticRegression,
)
from graphtv.applications.regression.regression_path import RegressionPath as RegressionPath
from graphtv.decomposition.condition import condition_number as condition_number
from graphtv.decomposition.partition import (
    ForestPartition as ForestPartition,
    decompose as decompose,
)
from graphtv.derivatives.solution import (
    SolutionGradient as SolutionGradient,
    solution_vjp as solution_vjp,
)
from graphtv.graph.graph import Graph as Graph
from graphtv.graph.grid import (
    GridStructure as GridStructure,
    grid_graph as grid_graph,
    recognize_grid as recognize_grid,
)
from graphtv.graph.neighbours import knn_graph as knn_graph
from graphtv.io import (
    DimacsError as DimacsError,
    read_dimacs as read_dimacs,
    write_dimacs as write_dimacs,
)
from graphtv.problem import Problem as Problem
from graphtv.result import Result as Result
from graphtv.scale.partitioned_graph import PartitionedGraph as PartitionedGraph
from graphtv.scale.result import (
    PartitionedResult as PartitionedResult,
    TiledResult as TiledResult,
)
from graphtv.solver import PDHG as PDHG, solve as solve
from graphtv.terms import (
    AbsoluteLoss as AbsoluteLoss,
    CoupledTV as CoupledTV,
    DataTerm as DataTerm,
    EntropicSimplex as EntropicSimplex,
    HuberLoss as HuberLoss,
    HuberTV as HuberTV,
    IsotropicTV as IsotropicTV,
    LinearBox as LinearBox,
    LogisticLoss as LogisticLoss,
    Penalty as Penalty,
    PoissonLoss as PoissonLoss,
    QuantileLoss as QuantileLoss,
    SquaredLoss as SquaredLoss,
    TotalVariation as TotalVariation,
)
from graphtv.tv.exact import tv_chain as tv_chain, tv_forest as tv_forest

__version__: str
