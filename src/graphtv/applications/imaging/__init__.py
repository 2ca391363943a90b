"""Images and volumes: denoising, choice of the weight, segmentation from scribbles."""
