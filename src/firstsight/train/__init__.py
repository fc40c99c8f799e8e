"""From labelled images, or labelled features, to a model: `fit`, `fit_features`, and Algorithm 2 where something learns."""
