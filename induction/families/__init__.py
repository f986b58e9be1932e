"""Template families of the benchmark, and near misses of a formula."""
