"""A program with a small window from which files are dragged: drag_source.py ADDRESS..."""

import sys

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, Gtk  # noqa: E402


def hand_over(_box, _context, data, _info, _time):
    data.set_uris(sys.argv[1:])


window = Gtk.Window(title="drag source")
window.set_default_size(120, 80)
box = Gtk.EventBox()
box.add(Gtk.Label(label="drag me"))
targets = [Gtk.TargetEntry.new("text/uri-list", 0, 0)]
box.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, targets, Gdk.DragAction.COPY)
box.connect("drag-data-get", hand_over)
window.add(box)
window.connect("destroy", Gtk.main_quit)
window.show_all()
window.move(0, 0)
Gtk.main()
