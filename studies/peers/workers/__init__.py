"""Scripts for the Pythons of other packages; nothing here imports gvoys, and gvoys imports nothing here."""
