package httpread

// Paths returns the method of every path of the API.
func Paths() map[string]string {
	paths := map[string]string{}
	for _, r := range routes {
		if r.path != "/" {
			paths[r.path] = r.method
		}
	}
	return paths
}
