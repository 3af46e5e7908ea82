
int main(int count, char **arguments) {
    long runs = count > 1 ? atol(arguments[1]) : 1000;
    unsigned seed = count > 2 ? (unsigned)atol(arguments[2]) : 1;
    for (const Entry &test : TESTS) {
        bool wanted = count <= 3;
        for (int i = 3; i < count; i++) wanted |= strcmp(arguments[i], test.name) == 0;
        if (wanted) test.run(runs, seed);
    }
    return 0;
}
