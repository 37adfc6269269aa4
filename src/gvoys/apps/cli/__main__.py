"""python -m gvoys.apps.cli"""

from gvoys.apps.cli import main

main()
