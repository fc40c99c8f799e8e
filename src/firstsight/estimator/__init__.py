"""Category discovery as scikit-learn has classifiers, on features that somebody has already. Loads no torch.

It may use all that fits and decides; whoever wants it imports `CategoryDiscoverer`.
"""

from firstsight.estimator.discoverer import CategoryDiscoverer
from firstsight.estimator.labels import BadInput

__all__ = ["BadInput", "CategoryDiscoverer"]
