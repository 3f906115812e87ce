package main

import "testing"

// What a name stands for elsewhere is a verb here, and the name itself is none.
func TestOtherNamesAreOfVerbs(t *testing.T) {
	for name, meant := range otherNames() {
		if _, is := verbNamed(name); is {
			t.Errorf("%s is a verb", name)
		}
		if _, is := verbNamed(meant); !is {
			t.Errorf("%s stands for %s, which is no verb", name, meant)
		}
	}
}
