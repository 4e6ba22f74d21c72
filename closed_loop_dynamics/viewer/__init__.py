"""The viewer in the browser (with viser): what ``closed-loop view`` opens.

Reading order: ``window`` (the loop that ties all together), ``snapshot`` (what is computed),
``scene`` and ``panel`` (what is shown). Only ``server`` and its callers need viser.
"""
