package main

func Example() {
	main()
	// Output:
	// delivered: 1 owed: 0
	// sent run the tests
}
