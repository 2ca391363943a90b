"""The page of ``graphtv app``: segmentation by scribbles and denoising, live in a browser.

A `Session` is what one tab of a browser has: an image, strokes, settings. A `Pool` of threads
works for all sessions in turn; `server` speaks HTTP and WebSocket, and holds the doors shut.
"""
