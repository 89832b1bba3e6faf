"""`python -m selfclock`."""

from selfclock.cli import main

if __name__ == "__main__":
    main()
