"""The command line: data to standard output, words for people to standard error.

`main`         find the command, run it, turn errors into three lines and an exit code
`command`      one command as data: words, summary, why, examples, options
`parser`       the parser made from the commands; its mistakes are errors like all others
`errors`       exit codes, and errors that say what, why and fix
`output`       the two streams
`progress`     a progress bar
`demo_cmd`     `folkmoot demo`
`charter_cmd`  `folkmoot charter check`, `folkmoot charter show`
`version_cmd`  `folkmoot version`
`reference`    the reference page, made from the commands

A command's name is a noun and a verb of the glossary, or one word. An error is printed as three
lines: what happened, why, and what to do; its code stands in the last one.
"""
