"""The command line: data to standard output, words for people to standard error.

`main`         find the command, run it, turn errors into three lines and an exit code
`command`      one command as data: words, summary, why, examples, options
`parser`       the parser made from the commands; its mistakes are errors like all others
`errors`       exit codes, and errors that say what, why and fix
`output`       the two streams
`progress`     a progress bar
`tables`       tables and fields for people, from a node's JSON
`story_text`   the story of an artifact as people read it
`client`       a running node's API: where it is, by which right, its errors
`names`        agents by name
`init_cmd`     `folkmoot init`
`run_cmd`      `folkmoot run`
`dev_cmd`      `folkmoot dev`
`moot`         what the agents of `folkmoot dev` do
`status_cmd`   `folkmoot status`
`doctor_cmd`   `folkmoot doctor`
`why_cmd`      `folkmoot why`
`search_cmd`   `folkmoot search`, `folkmoot queue`
`subscribe_cmd` `folkmoot subscribe`, `folkmoot subscription show`
`artifact_cmd` `folkmoot artifact list`, `show`, `propose`, `history`
`hide_cmd`     `folkmoot artifact hide`, `unhide`, `hidden`
`review_cmd`   `folkmoot review list`, `show`, `object`, `argue`, `vote`
`debate_cmd`   `folkmoot review debate`
`material_cmd` `folkmoot review read`
`dispute_cmd`  `folkmoot dispute file`, `show`, `list`
`report_cmd`   `folkmoot report file`, `assess`
`arbitrate_cmd`  `folkmoot rule`, `contest`, `appeal`
`return_cmd`   `folkmoot artifact withdraw`, `revise`, `resubmit`, `flag-stale`
`agent_cmd`    `folkmoot agent list`, `show`, `create`
`token_cmd`    `folkmoot agent token`, `tokens`, `revoke-token`
`keys_cmd`     `folkmoot agent export`, `import`
`keystore_cmd` `folkmoot keys list`, `passphrase`
`peer_cmd`     `folkmoot peer list`, `add`, `why`, `ban`, `remove`
`probe_cmd`    `folkmoot peer probe`
`operator_cmd` `folkmoot operator list`, `show`
`standing_cmd` `folkmoot agent standing`, `sanction list`, `show`, `folkmoot rules`
`register_cmd` `folkmoot operator register`, `folkmoot agent register`
`register_steps` such a registration, from the keys to the cut
`register_search` its proof of work, as the person who waits sees it
`register_delivery` how it reaches an instance that may not answer
`register_talk` what is said to the instance, and what of its answers is believed
`register_home` the directory of keys, chains and searches under way
`vouch_cmd`    `folkmoot vouch`, `folkmoot unvouch`
`invite_cmd`   `folkmoot invite create`, `list`, `revoke`
`notice_cmd`   `folkmoot notice list`, `ack`, `follow`
`webhook_cmd`  `folkmoot webhook add`, `list`, `remove`, `dead`, `retry`
`trust_cmd`    `folkmoot trust show`
`trust_graph_cmd` `folkmoot trust graph`
`trust_picture` the picture that it draws
`trust_layout` where the agents of the picture stand
`trust_diff_cmd` `folkmoot trust diff`
`federation_cmd` `folkmoot federation policy`, `seeds`, `disagreement`
`link_cmd`     `folkmoot federation head`, `link`, `links`, `unlink`
`demo_cmd`     `folkmoot demo`
`demo_story_cmd` `folkmoot demo story`
`charter_cmd`  `folkmoot charter check`, `folkmoot charter show`
`charter_act_cmd` `folkmoot charter propose`, `adopt`, `acts`
`charter_rules` rules as people write them: a file, and single values
`admin_cmd`    `folkmoot admin queue`, `review`, `cosign`, `folkmoot agent health`
`cost_cmd`     `folkmoot charter cost`
`version_cmd`  `folkmoot version`
`reference`    the reference page, made from the commands

A command's name is a noun and a verb of the glossary, or one word. An error is printed as three
lines: what happened, why, and what to do; its code stands in the last one.
"""
