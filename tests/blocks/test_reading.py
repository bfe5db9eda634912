@pytest.mark.parametrize("given", [{"target": 5}, {"target": [0, 1], "weights": 2}])
def test_a_number_is_no_target(given):
    with pytest.raises(
        cc.DataError, match=r"is [25]: give the name of a column, a file of one number a row, or an array"
    ):
        cc.read_blocks(np.array([[1.0], [2.0]]), **given)
