"""The fused lasso: single fits, regularisation paths, cross-validation and an estimator."""
