"""``python -m separatrix.cli``."""

from separatrix.cli import main

if __name__ == "__main__":
    main()
