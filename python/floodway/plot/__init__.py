"""Pictures of results, each with the data that it shows as a table."""

from floodway.plot.axes import FORMATS, Format
from floodway.plot.busbw import busbw
from floodway.plot.curves import Drawing, Source, folder_labels, sources_of
from floodway.plot.files import refuse_taken, save, save_all
from floodway.plot.flows import fct, slowdown
from floodway.plot.ports import ports
from floodway.plot.region import region
from floodway.plot.series import heatmap, series
from floodway.plot.shares import shares
from floodway.plot.style import Look, look
from floodway.plot.timeline import timeline

__all__ = ["FORMATS", "Drawing", "Format", "Look", "Source", "busbw", "fct", "folder_labels", "heatmap"]
__all__ += ["look", "ports", "refuse_taken", "region", "save", "save_all", "series", "shares", "slowdown"]
__all__ += ["sources_of", "timeline"]
