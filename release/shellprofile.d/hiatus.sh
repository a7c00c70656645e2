# Makes `yarn hiatus …` of Hadoop's own command. Hadoop's scripts read this file from shellprofile.d of the configuration.
if [ "${HADOOP_SHELL_EXECNAME}" = yarn ]; then
    hadoop_add_subcommand "hiatus" client "what Hiatus does, and parking by hand"
fi

yarn_subcommand_hiatus() {
    HADOOP_CLASSNAME=io.hiatus.scheduler.HiatusCommand
}
