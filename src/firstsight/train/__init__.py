"""From labelled images, or features, to a model: `fit`, `fit_features`, and Algorithm 2 where something learns."""
