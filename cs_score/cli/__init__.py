"""The command line: parse the words, call the library, pick a writer."""
