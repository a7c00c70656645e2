"""The release: ``assembly`` puts it together, ``bundled`` knows whose code is in the native library, ``bill`` writes the bill of
materials, ``archive`` packs what is the same for the same sources, whoever packs it, where and when.
"""
