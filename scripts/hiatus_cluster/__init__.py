"""A real Hadoop cluster as processes on this machine, for demos, experiments and tests.

``layout`` says where things lie, ``toolchain`` finds or installs the tools, ``distribution`` knows how Hadoop's programs are
started, ``configuration`` writes the ``*-site.xml`` files, ``daemons`` starts and ends processes, ``cluster`` puts them together,
``rest`` reads what the daemons say about themselves, ``jobs`` runs workloads of real MapReduce jobs, ``applications`` starts
applications that cost nothing, and ``timeline`` draws what happened. What is installed elsewhere is packed by ``release``.
"""
