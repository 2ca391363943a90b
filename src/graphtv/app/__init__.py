"""The web page of ``graphtv app``: interactive segmentation and denoising in a browser.

A `Session` is the state of one browser tab: an image, strokes and settings. A `Pool` of threads
works for all sessions in turn, and a second pool of one thread does what takes long: full-size runs
and races. `decoding` reads uploads, `answers` makes downloads, `server` handles HTTP and WebSocket
requests, and `origin_guard` rejects requests from other origins.
"""
