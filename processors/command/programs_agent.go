package command

// agentPrograms are the tools with which coding agents change files. They are not shell programs,
// but agents' trajectories list them among commands, and `recount hook` records an agent's changes
// as `edit PATH` and `create PATH`. Line numbers may follow a path: `edit a.go 10:20`.
var agentPrograms = []program{
	{"edit|insert|str_replace", catOther, "", "u ?*"},
	{"create", catOther, "", "w ?*"},
	{"view", catQuery, "", "r ?*"},
	{"str_replace_editor|str_replace_based_edit_tool|file_editor", catOther, "", "sub ?*"},
	{"str_replace_editor view", catQuery, "", "r ?*"},
	{"str_replace_editor create", catOther, "", "w ?*"},
	{"str_replace_editor str_replace|insert|undo_edit", catOther, "", "u ?*"},
	{"apply_patch", catOther, "", "u*"},
	{"find_file", catQuery, "", "str r*"},
	{"search_dir|search_file", catQuery, "", "str r*"},
	{"goto|scroll_down|scroll_up", catNavigate, "", "num"},
}
