"""Pictures of results, as PNG files."""

from floodway.plot.pictures import fct_cdf, link_throughput, save_all, slowdown

__all__ = ["fct_cdf", "link_throughput", "save_all", "slowdown"]
