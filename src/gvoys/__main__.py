"""python -m gvoys …, the command line."""

from gvoys.cli import main

if __name__ == "__main__":
    main()
