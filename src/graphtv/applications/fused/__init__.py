"""The fused lasso: single fits, paths of λ, cross-validation, an estimator."""
