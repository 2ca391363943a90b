"""Images and volumes: denoising, the weight by the noise, segmentation by scribbles."""
