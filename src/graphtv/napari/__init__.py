"""A plugin for napari: denoise images, and segment them from painted labels."""
