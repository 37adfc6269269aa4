"""python -m gvoys.cli"""

from gvoys.cli import main

main()
