"""Installing Hiatus in a Hadoop that was unpacked from its tarball, and taking it out again.

Python's own library is enough, from version 3.6 on: a shell cannot change XML and leave everything else in it as it was.
"""
