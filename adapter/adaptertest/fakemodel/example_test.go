package fakemodel_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/docket-go/docket/adapter/adaptertest/fakemodel"
)

// A test starts a server, has a harness use it, and reads what the model was
// asked. Here the harness is a plain request.
func Example() {
	s, err := fakemodel.Start(fakemodel.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	question := `{"messages":[{"role":"user","content":"run the tests"}],"tools":[{"function":{"name":"shell"}}]}`
	answer, err := http.Post(s.URL()+"/v1/chat/completions", "application/json", strings.NewReader(question))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	fmt.Println(strings.Contains(string(body), "ACK run the tests"), err)
	fmt.Println(s.Turns())
	// Output:
	// true <nil>
	// [run the tests]
}
