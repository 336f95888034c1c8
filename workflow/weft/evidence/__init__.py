"""What carried the bytes: counters of the links, reports of the libraries, and the verdict on both."""
