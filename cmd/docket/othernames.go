package main

// otherNames are what other programs, and those who have not read the help, call the
// verbs.
func otherNames() map[string]string {
	return map[string]string{
		"add": "new", "create": "new",
		"message": "send", "msg": "send", "say": "send", "tell": "send", "reply": "send", "answer": "send",
		"working": "active", "question": "ask", "asking": "ask", "block": "park", "blocked": "park",
		"finish": "done", "finished": "done", "fail": "error", "failed": "error",
		"history": "log", "logs": "log", "messages": "log", "read": "log", "tail": "follow",
		"inbox": "pending", "owed": "pending", "queue": "pending",
		"deliver": "drain", "flush": "drain", "redeliver": "drain", "retry": "drain",
		"cancel": "revoke", "settle": "confirm", "daemon": "serve", "run": "host", "approve": "permit",
		"check": "verify", "fsck": "verify", "fix": "repair", "diagnose": "doctor",
		"overview": "top", "status": "top", "list": "ls", "ps": "ls", "sessions": "ls",
		"get": "show", "info": "show", "inspect": "show", "edit": "set", "update": "set",
		"delete": "close", "remove": "close", "rm": "close",
	}
}
