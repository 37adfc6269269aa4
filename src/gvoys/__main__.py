"""python -m gvoys …, the command line."""

from gvoys.apps.cli import main

if __name__ == "__main__":
    main()
