"""Methods that compare features with one centre per category: nearest class mean, sequential leader clustering.

How far a category reaches is found by discovery simulated on the support set: some known categories play new ones.
"""

from __future__ import annotations

from firstsight.core.protocols import SupportFeatures
from firstsight.core.settings import ImageSettings
from firstsight.methods.decisions import CentreDecision
from firstsight.methods.reach import chosen_reach


class Leaders(CentreDecision):
    """Categories lead from where their support images are on average, as far as pays on held-out ones."""

    @classmethod
    def fitted_reach(cls, support: SupportFeatures) -> float:
        return chosen_reach(support.features, support.labels, cls.metric)


class ClassMeans(Leaders):
    """Nearest class mean by cosine on the frozen backbone's features; an image far from all founds a category.

    Nothing is trained, so the held-out categories the radius is chosen on are truly new to it. A new category stays
    where its first image is. (All choices but the cosine are ours.)
    """

    settings_type = ImageSettings
