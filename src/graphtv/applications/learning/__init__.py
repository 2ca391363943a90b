"""Semi-supervised learning from few labels."""
